"""What the name of a column says: words for what patient tables hold, in four languages.

A name is taken apart into words (`PatientAge`, `patient_age` and `patient age` are the same), and
whole words are compared, so that `age` is found in `age_at_admission` but not in `stage` or
`dosage`. A word also matches its plural in -s. Accents do not matter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from incrowd.table import Role

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_ROLE_ORDER: tuple[Role, ...] = ("identifier", "quasi", "sensitive", "target", "keep")


@dataclass(frozen=True)
class Concept:
    """Something that columns are about: its usual role, and the words that name it.

    `weak` words decide only where no other word does (a `drug_name` is a drug), `alone` words
    only when they are the whole name. Of several sensitive attributes the one with the lowest
    `rank` harms most when it is learned.
    """

    key: str
    role: Role
    what: str
    words: str
    weak: bool = False
    alone: bool = False
    rank: int = 9


CONCEPTS: tuple[Concept, ...] = (
    Concept(
        "person name",
        "identifier",
        "the name of a person",
        "first name, firstname, last name, lastname, middle name, surname, forename, given name, "
        "family name, full name, fullname, maiden name, patient name, name patient, initials, "
        "user name, username, login, vorname, nachname, familienname, geburtsname, "
        "nom patient, nom de famille, prenom, nombre paciente, nombre completo, apellido",
    ),
    Concept(
        "record number",
        "identifier",
        "the number of a person or record",
        "patient id, patientid, patient identifier, patient no, patient nr, patient number, "
        "pat id, patid, pat nr, patnr, pid, mrn, medical record, record id, record no, "
        "record number, case id, case no, case number, subject id, participant id, person id, "
        "encounter id, visit id, admission id, hadm id, stay id, study id, member id, "
        "insurance id, insurance no, insurance number, policy number, nhs number, nhs no, ssn, "
        "social security, national id, tax id, passport, account number, bank account, iban, "
        "credit card, card number, license number, licence number, license plate, serial number, "
        "device id, accession number, barcode, uuid, guid, "
        "patienten id, patientennummer, patienten nr, fallnummer, fall nr, fall id, fallid, "
        "aufnahmenummer, aktenzeichen, versichertennummer, versicherungsnummer, kvnr, svnr, "
        "sozialversicherungsnummer, probandennummer, reisepass, steuernummer, steuer id, "
        "kontonummer, kennzeichen, "
        "numero patient, numero de patient, numero dossier, numero de dossier, "
        "securite sociale, nir, passeport, "
        "numero de paciente, historia clinica, nhc, seguridad social, dni, nif, curp, cpf, "
        "pasaporte",
    ),
    Concept(
        "e-mail",
        "identifier",
        "an e-mail address",
        "email, e mail, mail, courriel, correo",
    ),
    Concept(
        "phone",
        "identifier",
        "a phone number",
        "phone, telephone, tel, mobile, cell phone, cellphone, fax, telefon, telefonnummer, mobil, "
        "handy, telefono, movil",
    ),
    Concept(
        "address",
        "identifier",
        "an address",
        "address, street, house number, latitude, longitude, lat, lon, gps, coordinates, strasse, "
        "hausnummer, adresse, anschrift, rue, direccion, calle, domicilio",
    ),
    Concept(
        "account",
        "identifier",
        "an address or account on the internet",
        "url, website, ip, ip address, mac address, twitter, facebook",
    ),
    Concept(
        "free text",
        "identifier",
        "free text, which may hold anything",
        "comment, note, remark, free text, freetext, narrative, letter, freitext, bemerkung, "
        "bemerkungen, kommentar, kommentare, anmerkung, anmerkungen, anamnese, arztbrief, "
        "commentaire, remarque, observaciones, comentario, nota",
    ),
    Concept(
        "picture",
        "identifier",
        "a picture or a trait of the body",
        "photo, photograph, picture, fingerprint, signature, biometric, foto, bild, unterschrift",
    ),
    Concept(
        "identifier",
        "identifier",
        "an identifier",
        "id, identifier, uid, key, kennung, name, nom, nombre, identifiant, identificador",
        weak=True,
    ),
    Concept(
        "identifier",
        "identifier",
        "an identifier",
        "patient, subject, person, participant, case, record, index, row, number, no, nr, num, "
        "unnamed 0, unnamed, proband, fall, nummer, numero, paciente, sujet, sujeto",
        weak=True,
        alone=True,
    ),
    Concept(
        "age",
        "quasi",
        "an age",
        "age, alter, lebensalter, edad, agegroup, altersgruppe",
    ),
    Concept(
        "birth",
        "quasi",
        "a date or place of birth",
        "birth, birthdate, birthday, birthplace, born, dob, dateofbirth, yob, birthyear, geburt, "
        "geburtsdatum, geburtstag, geburtsjahr, geburtsort, geburtsland, geb, naissance, "
        "nacimiento",
    ),
    Concept(
        "sex",
        "quasi",
        "a sex or gender",
        "sex, gender, geschlecht, sexe, genre, sexo, genero",
    ),
    Concept(
        "postal code",
        "quasi",
        "a postal code",
        "zip, zipcode, zip code, postcode, postal, postalcode, plz, postleitzahl, code postal, "
        "codigo postal, cp",
    ),
    Concept(
        "place",
        "quasi",
        "a place",
        "city, town, village, county, district, region, state, province, municipality, area, "
        "residence, neighborhood, neighbourhood, census tract, rural, urban, stadt, ort, wohnort, "
        "gemeinde, kreis, landkreis, bezirk, bundesland, kanton, canton, provinz, ville, commune, "
        "departement, ciudad, provincia, municipio, poblacion, residencia",
    ),
    Concept(
        "origin",
        "quasi",
        "a race, country or language",
        "race, ethnicity, ethnic, ethnie, ethnia, etnia, raza, nationality, nationalitaet, "
        "nationalitat, nationalite, nacionalidad, citizenship, staatsangehoerigkeit, "
        "staatsangehorigkeit, herkunft, country, native country, nation, land, pays, pais, "
        "immigrant, migration, language, sprache, langue, idioma, religion, konfession",
    ),
    Concept(
        "family",
        "quasi",
        "a family status",
        "marital, marital status, civil status, family status, familienstand, etat civil, "
        "situation familiale, estado civil, household, family size, relationship, spouse, "
        "children, kids, siblings, twin, haushalt, kinder, enfants, hijos",
    ),
    Concept(
        "education",
        "quasi",
        "an education",
        "education, schooling, school, degree, bildung, ausbildung, schulbildung, "
        "schulabschluss, etudes, niveau etudes, educacion, estudios",
    ),
    Concept(
        "occupation",
        "quasi",
        "an occupation",
        "occupation, job, profession, work, workclass, employment, employer, employed, industry, "
        "hours per week, social class, veteran, military, beruf, arbeitgeber, taetigkeit, "
        "tatigkeit, metier, emploi, ocupacion, profesion, empleo, trabajo",
    ),
    Concept(
        "body",
        "quasi",
        "a trait that others can see",
        "height, weight, bmi, hair color, eye color, skin color, disability, groesse, grosse, "
        "koerpergroesse, korpergrosse, gewicht, koerpergewicht, korpergewicht, taille, poids, "
        "talla, estatura, peso",
    ),
    Concept(
        "stay",
        "quasi",
        "a stay or visit",
        "admission, admitted, discharge, discharged, visit, appointment, length of stay, stay, "
        "aufnahme, aufnahmedatum, aufnahmetag, entlassung, entlassungsdatum, entlassdatum, "
        "verweildauer, liegedauer, admisiones, admision, fecha de ingreso, alta, sejour, sortie",
    ),
    Concept(
        "death",
        "quasi",
        "a death",
        "death, died, deceased, dod, vital status, tod, todesdatum, sterbedatum, verstorben, "
        "deces, fallecimiento, defuncion",
    ),
    Concept(
        "care",
        "quasi",
        "a place or person of care",
        "hospital, clinic, ward, department, facility, practice, center, centre, physician, "
        "doctor, surgeon, nurse, therapist, provider, krankenhaus, klinik, station, abteilung, "
        "praxis, arzt, hausarzt, hopital, clinique, medecin, clinica",
    ),
    Concept(
        "insurance",
        "quasi",
        "an insurance",
        "insurance, insurer, payer, payor, medicaid, medicare, versicherung, krankenkasse, "
        "assurance, mutuelle, seguro, aseguradora",
    ),
    Concept(
        "diagnosis",
        "sensitive",
        "a diagnosis or disease",
        "diagnosis, diagnoses, dx, diag, icd, icd10, disease, illness, disorder, syndrome, "
        "condition, comorbidity, comorbidities, cancer, tumor, tumour, histology, morphology, "
        "topography, metastasis, stage, grade, tnm, hiv, aids, hepatitis, diabetes, depression, "
        "pregnant, pregnancy, allergy, allergies, symptom, finding, cause of death, "
        "diagnose, diagnosen, krankheit, erkrankung, hauptdiagnose, nebendiagnose, befund, "
        "todesursache, diagnostic, maladie, cause deces, cause du deces, diagnostico, "
        "enfermedad, patologia, causa de muerte",
        rank=1,
    ),
    Concept(
        "procedure",
        "sensitive",
        "a procedure or treatment",
        "procedure, surgery, surgeries, operation, treatment, therapy, therapies, transfusion, "
        "transplant, chemotherapy, radiotherapy, ops, cpt, eingriff, behandlung, therapie, "
        "prozedur, traitement, intervention, chirurgie, cirugia, tratamiento, terapia, "
        "procedimiento",
        rank=2,
    ),
    Concept(
        "medication",
        "sensitive",
        "a medication",
        "medication, medicine, drug, prescription, dose, dosage, atc, insulin, opioid, "
        "medikament, medikamente, medikation, dosis, wirkstoff, medicament, ordonnance, "
        "medicamento, farmaco, receta",
        rank=3,
    ),
    Concept(
        "lab result",
        "sensitive",
        "a result of a test",
        "lab, laboratory, result, test result, blood, glucose, cholesterol, hba1c, hb a1c, "
        "creatinine, hemoglobin, haemoglobin, platelets, leukocytes, blood pressure, bp, sbp, "
        "dbp, systolic, diastolic, heart rate, pulse, temperature, viral load, cd4, psa, crp, "
        "gene, genotype, mutation, biomarker, biopsy, labor, laborwert, ergebnis, blut, blutdruck, "
        "puls, laboratoire, resultat, sang, laboratorio, resultado, sangre",
        rank=4,
    ),
    Concept(
        "behaviour",
        "sensitive",
        "a private habit",
        "smoking, smoker, tobacco, alcohol, drinking, drug use, sexual orientation, raucher, "
        "rauchen, alkohol, tabac, alcool, fumeur, tabaco, fumador",
        rank=5,
    ),
    Concept(
        "survival",
        "sensitive",
        "the course of a disease",
        "survival, prognosis, progression, remission, complication, ueberleben, uberleben, "
        "prognose, survie, supervivencia, complicacion",
        rank=6,
    ),
    Concept(
        "money",
        "sensitive",
        "an amount of money",
        "income, salary, wage, wages, earnings, capital gain, capital loss, debt, wealth, cost, "
        "charge, einkommen, gehalt, lohn, kosten, schulden, revenu, salaire, ingresos, salario, "
        "renta, coste",
        rank=8,
    ),
    Concept(
        "target",
        "target",
        "a class or outcome",
        "class, label, target, outcome, klasse, zielvariable, zielgroesse, classe, clase, etiqueta",
        rank=1,
    ),
    Concept(
        "outcome",
        "target",
        "a class or outcome",
        "readmitted, readmission, readmit, recur, recurrence, recurred, relapse, mortality, "
        "survived, response, responder, event, wiederaufnahme, rezidiv, rueckfall, ruckfall, "
        "recidive, recaida, reingreso",
        rank=2,
    ),
    Concept(
        "split",
        "keep",
        "a split into training and test",
        "fold, split, train test",
    ),
)


@dataclass(frozen=True)
class NameMatch:
    """The concept that a name speaks of, and whether it also holds a word such as `id`."""

    concept: Concept
    identifies: bool


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column name in lower case, without accents."""
    plain = unicodedata.normalize("NFKD", _CAMEL.sub(" ", name))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return tuple(_WORD.findall(plain.casefold()))


def match_name(name: str) -> NameMatch | None:
    """Return what a column name speaks of, or None when no word of it is known.

    Of several concepts a strong one comes before a weak one, a longer phrase before a shorter
    one, and then the one whose role protects more.
    """
    words = words_of(name)
    found = list(_matches(words))
    if not found:
        return None
    best = min(
        found,
        key=lambda each: (each[0].weak, -each[1], _ROLE_ORDER.index(each[0].role), each[0].rank),
    )
    return NameMatch(best[0], any(concept.key == "identifier" for concept, _ in found))


def _matches(words: tuple[str, ...]) -> Iterator[tuple[Concept, int]]:
    """Yield every concept that the words hold a phrase of, with the length of the phrase."""
    for at, word in enumerate(words):
        for first in {word, word.removesuffix("s")}:
            for concept, phrase in _phrases().get(first, ()):
                here = words[at : at + len(phrase)]
                if concept.alone and here != words:
                    continue
                if len(here) == len(phrase) and all(map(_same, here, phrase)):
                    yield concept, len(phrase)


def _same(word: str, wanted: str) -> bool:
    return word in (wanted, wanted + "s")


@cache
def _phrases() -> dict[str, list[tuple[Concept, tuple[str, ...]]]]:
    """All phrases by their first word."""
    phrases: dict[str, list[tuple[Concept, tuple[str, ...]]]] = {}
    for concept in CONCEPTS:
        for text in concept.words.split(","):
            phrase = words_of(text)
            phrases.setdefault(phrase[0], []).append((concept, phrase))
    return phrases
