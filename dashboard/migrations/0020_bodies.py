"""Whether a user may see the bodies of messages; null means that the role decides."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('dashboard', '0019_attached_clusters'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='sees_bodies',
            field=models.BooleanField(blank=True, default=None, null=True),
        ),
    ]
