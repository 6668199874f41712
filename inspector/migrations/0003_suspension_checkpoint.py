from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("inspector", "0002_operations_desk"),
    ]

    operations = [
        migrations.AlterField(
            model_name="checkpoint",
            name="kind",
            field=models.CharField(
                choices=[
                    ("completed-read", "Read completed"),
                    ("saved-proposal", "Proposal saved"),
                    ("approval", "Approved"),
                    ("resolved-mutation", "Change settled"),
                    ("before-suspension", "Saved before a suspension"),
                ],
                max_length=20,
            ),
        ),
    ]
