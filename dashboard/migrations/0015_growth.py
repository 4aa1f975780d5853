"""Rows that grow old: found by their age; a change outlives the one it undid."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0014_sessions'),
    ]

    operations = [
        migrations.AlterField(
            model_name='groupchange',
            name='undo_of',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='undone', to='dashboard.groupchange'),
        ),
        migrations.AddIndex(
            model_name='epoch',
            index=models.Index(fields=['ended_by'], name='dashboard_e_ended_b_c677d0_idx'),
        ),
        migrations.AddIndex(
            model_name='ownershipevent',
            index=models.Index(fields=['at_by'], name='dashboard_o_at_by_d12f27_idx'),
        ),
    ]
