"""The words of what a report can be are no longer kept with its table."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0012_known_brokers'),
    ]

    operations = [
        migrations.AlterField(model, name, models.CharField(max_length=length, default=default, **more))
        for model, name, length, default, more in (
            ('jobrun', 'grouping', 16, 'queue', {}),
            ('jobrun', 'paper', 16, 'a4', {}),
            ('jobrun', 'state', 16, 'queued', {}),
            ('reportdefinition', 'every', 8, '', {'blank': True}),
            ('reportdefinition', 'grouping', 16, 'queue', {}),
            ('reportdefinition', 'paper', 16, 'a4', {}),
        )
    ]
