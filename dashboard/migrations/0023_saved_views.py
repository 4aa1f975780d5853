"""Saved views of lists."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0022_resends'),
    ]

    operations = [
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('table', models.CharField(max_length=64)),
                ('name', models.CharField(max_length=60)),
                ('path', models.TextField()),
                ('query', models.TextField(blank=True)),
                ('shared', models.BooleanField(default=False)),
                ('changed_at', models.DateTimeField(auto_now=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['table', 'name', 'pk'],
                'indexes': [models.Index(fields=['table', 'shared'], name='views_of_a_table')],
                'constraints': [models.UniqueConstraint(fields=('owner', 'table', 'name'), name='one_view_a_name')],
            },
        ),
    ]
