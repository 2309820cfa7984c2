"""Small files with the traits of real exports, generated: none of these people exists."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from dataclasses import dataclass

SURNAMES = ["Abernathy524", "Braun514", "Crooks415", "Dickinson688", "Emmerich580", "Fadel536"]
ILLNESSES = ["Flu", "Gout", "Asthma", "Angina"]
MONTHS = ["janvier", "mars", "avril", "juin", "juillet", "octobre"]
HEADERS = {
    "Synthea": "Id,FIRST,LAST,BIRTHDATE,GENDER,DESCRIPTION",
    "FHIR": "identifier,name_given,family,birthDate,gender,condition",
    "OMOP": "person_id,person_source_value,given,birth_datetime,gender,condition",
    "German": "Versichertennummer,Vorname,Nachname,Geburtsdatum,Geschlecht,Diagnose",
    "French": "NIR,prenom,nom,date de naissance,sexe,diagnostic",
    "Spanish": "DNI,nombre,apellido,fecha de nacimiento,sexo,diagnostico",
    "Dutch": "BSN,voornaam,achternaam,geboortedatum,geslacht,diagnose",
    "Italian": "codice_fiscale,nome,cognome,data di nascita,sesso,diagnosi",
}
"""How exports name the number, two names, the birth, the sex and the illness of a patient."""


@dataclass(frozen=True)
class Exhibit:
    """A file, the remedies that must be followed to publish it, and what must not be published."""

    name: str
    content: bytes
    remedies: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    file: str = "table.csv"


def rows(count: int, *cells: Callable[[random.Random, int], object]) -> list[list[str]]:
    draw = random.Random(11)
    return [[str(cell(draw, number)) for cell in cells] for number in range(count)]


def text(header: str, body: list[list[str]], separator: str = ",", end: str = "\n") -> bytes:
    lines = [*([header] if header else []), *(separator.join(row) for row in body)]
    return (end.join(lines) + end).encode()


def age(draw: random.Random, _: int) -> object:
    return draw.randint(20, 85)


def sex(draw: random.Random, _: int) -> object:
    return draw.choice("FM")


def illness(draw: random.Random, _: int) -> object:
    return draw.choice(ILLNESSES)


def surname(draw: random.Random, _: int) -> object:
    return draw.choice(SURNAMES)


def one_of_many(draw: random.Random, _: int) -> object:
    return f"{draw.choice(SURNAMES)}{draw.randint(0, 60)}"


def number(_: random.Random, at: int) -> object:
    return 4000 + at


def day(draw: random.Random, _: int) -> object:
    return f"19{draw.randint(30, 99)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"


def postal(draw: random.Random, _: int) -> object:
    return draw.choice(["01067", "01069", "10115", "10117", "80331"])


def exhibits() -> list[Exhibit]:
    """All files of the zoo."""
    return [*_without_names(), *_dates(), *_people(), *_cells(), *_forms()]


def _without_names() -> list[Exhibit]:
    body = rows(60, number, one_of_many, day, sex, postal, illness)
    header = "id,name,birth_date,sex,zip,diagnosis"
    joined = text(header, body[:30]) + text(header, body[30:])
    years = rows(60, lambda d, _: d.choice("NSEW"), *[age] * 4)
    return [
        Exhibit("no header", text("", body), ("--no-header",), tuple(SURNAMES)),
        Exhibit("no header, semicolons", text("", body, ";"), ("--no-header",), tuple(SURNAMES)),
        Exhibit("no header, a list", text("", rows(60, illness)), ("--no-header",)),
        Exhibit("header again below", joined, ("repeated header",), tuple(SURNAMES)),
        Exhibit("the same name twice", text("age,sex,age", rows(60, age, sex, age)), ("names",)),
        Exhibit("a column without name", text(",age,sex", rows(60, number, age, sex)), ("names",)),
        Exhibit("years as names", text("region,2019,2020,2021,2022", years)),
    ]


def _dates() -> list[Exhibit]:
    def zoned(end: str) -> list[list[str]]:
        return rows(60, lambda d, n: f"{day(d, n)}T09:54:17{end}", sex, illness)

    def in_words(draw: random.Random, _: int) -> object:
        return f"{draw.randint(1, 28)} {draw.choice(MONTHS)} 19{draw.randint(30, 99)}"

    french = rows(60, in_words, sex, illness)
    orders = [
        [f"31/{m:02}/1980" if n % 2 else f"{m:02}/31/1980", *rest]
        for n, (m, rest) in enumerate(
            (n % 6 * 2 + 1, row) for n, row in enumerate(rows(60, sex, illness))
        )
    ]
    american = rows(60, lambda d, _: f"{d.randint(1, 12)}/{d.randint(1, 28)}/19{d.randint(30, 99)}")
    clock = rows(60, lambda d, n: f"{day(d, n)} {d.randint(0, 23):02}:15:00.123456789", age)
    eight = rows(60, lambda d, n: str(day(d, n)).replace("-", ""), sex)
    told = ("1980", *MONTHS)
    return [
        Exhibit("times in UTC", text("START,sex,diagnosis", zoned("Z")), secrets=("09:54",)),
        Exhibit("times with a zone", text("START,sex,diagnosis", zoned("+02:00"))),
        Exhibit("fractions of seconds", text("admission,age", clock), secrets=("15:00",)),
        Exhibit("a sensitive time", text("diagnosis,sex,age", zoned(".5Z"))),
        Exhibit("dates in words", text("date_naissance,sexe,diagnostic", french), secrets=told),
        Exhibit("two orders of day", text("DOB,sex,diagnosis", orders), secrets=("1980",)),
        Exhibit("month first", text("birth", american)),
        Exhibit("eight digits", text("geburtsdatum,geschlecht", eight)),
    ]


def _people() -> list[Exhibit]:
    hidden = tuple(SURNAMES)

    def people(header: str) -> bytes:
        return text(header, rows(120, number, surname, surname, day, sex, illness))

    codes = rows(120, lambda _, n: f"X{n * 37 % 9973:05}-{n % 7}", age, illness)
    gaps = rows(120, lambda _, n: 10_000_000 + n * 37 + n % 5, age, illness)
    many = rows(300, one_of_many, age, sex)
    visits = rows(90, lambda _, n: f"P{n % 30:04}", age, illness)
    free = rows(60, lambda d, n: f"Seen {n} times with {surname(d, n)} in the ward on call", age)
    return [
        *(Exhibit(name, people(header), secrets=hidden) for name, header in HEADERS.items()),
        Exhibit("codes of their own", text("ref,age,diagnosis", codes), secrets=("X0",)),
        Exhibit("numbers with gaps", text("result_no,age,diagnosis", gaps), secrets=("1000003",)),
        Exhibit("unknown names", text("bezug,age,sex", many), secrets=hidden),
        Exhibit("several rows each", text("patient_nbr,age,diagnosis", visits), ("unit: row",),
                secrets=("P0007",)),
        Exhibit("free text", text("remarks2,age", free), secrets=hidden),
    ]  # fmt: skip


def _cells() -> list[Exhibit]:
    nearly = rows(120, lambda _, n: "NA" if n == 50 else 50 + n % 40, sex, illness)
    comma = rows(60, lambda d, _: f'"{d.randint(50, 99)},{d.randint(0, 9)}"', sex)
    formulas = rows(60, lambda d, _: d.choice(["=1+1", "@SUM(A1)", "-", "+"]), age, sex)
    quoted = rows(60, lambda d, _: d.choice(['"a ""b"""', '"c\nd"', '"e,f"']), age)
    mixed = rows(60, lambda d, _: d.choice(["HIV", "hiv", "HIV ", "Flu", "Gout"]), age, sex)
    few = rows(3, age, sex)
    hollow = rows(60, lambda *_: "", lambda *_: "x", age)
    return [
        Exhibit("nearly numbers", text("weight,sex,diagnosis", nearly), ("odd cells",)),
        Exhibit("decimal commas", text("weight,sex", comma)),
        Exhibit("formulas", text("mark,age,sex", formulas)),
        Exhibit("quotes and line ends", text("unit_name,age", quoted)),
        Exhibit("spellings", text("diagnosis,age,sex", mixed)),
        Exhibit("empty and constant", text("a,b,age", hollow)),
        Exhibit("three records", text("age,sex", few), ("more records",)),
        Exhibit("only names", text("LAST,FIRST", rows(60, surname, surname)),
                ("a column", "unit: row"), tuple(SURNAMES)),
        Exhibit("a long line", text("age,sex", [*rows(40, age, sex), ["50", "F", "x"]]), ("cut",)),
        Exhibit("wide", text(",".join(f"x{i}" for i in range(60)), rows(60, *[sex] * 60))),
    ]  # fmt: skip


def _forms() -> list[Exhibit]:
    body = rows(60, number, age, sex, illness)
    header = "id,age,sex,diagnosis"
    plain = text(header, body)
    umlaut = text("größe,alter", rows(60, age, age)).decode()
    return [
        Exhibit("byte-order mark", b"\xef\xbb\xbf" + plain),
        Exhibit(
            "semicolons and Windows line ends", text(header.replace(",", ";"), body, ";", "\r\n")
        ),
        Exhibit("tabs", text(header.replace(",", "\t"), body, "\t"), file="table.tsv"),
        Exhibit("compressed", gzip.compress(plain), file="table.csv.gz"),
        Exhibit("UTF-16", plain.decode().encode("utf-16")),
        Exhibit("Windows encoding", umlaut.encode("cp1252"), ("encoding",)),
    ]
