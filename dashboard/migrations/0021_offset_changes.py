"""Moves of groups' offsets, kept with what was committed before them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0020_bodies'),
    ]

    operations = [
        migrations.CreateModel(
            name='OffsetChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('group', models.CharField(max_length=255)),
                ('topic', models.CharField(max_length=255)),
                ('query', models.TextField(blank=True)),
                ('rows', models.JSONField(default=list)),
                ('online', models.BooleanField(null=True)),
                ('reason', models.TextField()),
                ('by_name', models.CharField(max_length=150)),
                ('at', models.DateTimeField(db_index=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('cluster', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='dashboard.cluster')),
                ('undo_of', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='undone', to='dashboard.offsetchange')),
            ],
            options={
                'ordering': ['-at', '-pk'],
                'indexes': [models.Index(fields=['cluster', 'group', '-at'], name='dashboard_o_cluster_47652b_idx')],
            },
        ),
    ]
