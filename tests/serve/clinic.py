"""Three small tables of the same patients, the same every time."""

import random

CITIES, ILLNESSES, DRUGS = ("Berlin", "Paris", "Rome"), ("Flu", "HIV", "Gout"), ("A01", "B02")
PATIENTS = 60


def clinic(stray: int = 0) -> dict[str, str]:
    """The files by their names; so many rows of conditions name nobody."""
    draw = random.Random(5)
    patients, conditions, drugs = ["Id,age,sex,city"], ["PATIENT,CODE,note"], ["PATIENT,drug"]
    for number in range(PATIENTS):
        who = f"P{number:03}"
        cells = (draw.randint(20, 89), draw.choice("FM"), draw.choice(CITIES))
        patients.append(f"{who},{','.join(map(str, cells))}")
        conditions += [
            f"{who},{draw.choice(ILLNESSES)},seen {draw.randint(100, 999)}"
            for _ in range(draw.randint(0, 4))
        ]
        drugs += [f"{who},{draw.choice(DRUGS)}"] * draw.randint(0, 2)
    conditions += [f"X{number:03},Flu,none" for number in range(stray)]
    written = {"patients.csv": patients, "conditions.csv": conditions, "drugs.csv": drugs}
    return {name: "\n".join(lines) + "\n" for name, lines in written.items()}
