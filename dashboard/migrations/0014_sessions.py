"""Sessions are kept under the digests of their keys, in a table of our own.

The keys in the table of `django.contrib.sessions` let in whoever reads them. They are
deleted with it, and people sign in again. Its migrations are forgotten as well, so that
an older version would make the table anew.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0013_report_words'),
    ]

    operations = [
        migrations.CreateModel(
            name='Session',
            fields=[
                ('session_key', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('session_data', models.TextField()),
                ('expire_date', models.DateTimeField(db_index=True)),
                ('signed_in_at', models.DateTimeField(null=True)),
                ('last_seen_at', models.DateTimeField(db_index=True)),
                ('address', models.CharField(blank=True, max_length=64)),
                ('browser', models.CharField(blank=True, max_length=300)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-last_seen_at', 'session_key'],
            },
        ),
        migrations.RunSQL('DROP TABLE IF EXISTS django_session', migrations.RunSQL.noop),
        migrations.RunSQL("DELETE FROM django_migrations WHERE app = 'sessions'", migrations.RunSQL.noop),
    ]
