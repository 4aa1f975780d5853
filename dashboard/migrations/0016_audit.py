"""Audit entries have the address that a sign-in came from, and count its repetitions."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0015_growth'),
    ]

    operations = [
        migrations.AddField('auditentry', 'address', models.CharField(blank=True, max_length=64)),
        migrations.AddField('auditentry', 'times', models.PositiveIntegerField(default=1)),
    ]
