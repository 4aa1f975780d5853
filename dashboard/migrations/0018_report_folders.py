"""Folders of results that no other database's runs have; old runs keep theirs."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models.functions import Cast

import dashboard.models.report


def name_by_number(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    runs = apps.get_model('dashboard', 'JobRun').objects
    runs.update(folder=Cast('pk', models.CharField(max_length=32)))


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0017_limits'),
    ]

    operations = [
        migrations.AddField(
            model_name='jobrun',
            name='folder',
            field=models.CharField(default='', editable=False, max_length=32),
        ),
        migrations.RunPython(name_by_number, migrations.RunPython.noop),
        migrations.AlterField(
            model_name='jobrun',
            name='folder',
            field=models.CharField(default=dashboard.models.report.new_folder, editable=False, max_length=32),
        ),
    ]
