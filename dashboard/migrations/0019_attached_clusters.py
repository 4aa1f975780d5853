"""Clusters that were attached on a page, beside those of the settings."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0018_report_folders'),
    ]

    operations = [
        migrations.AddField(
            model_name='cluster',
            name='attached',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='cluster',
            name='writes',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
