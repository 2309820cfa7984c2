"""What columns of patient tables are about, with the words that name it, in six languages.

English, German, French, Spanish, Dutch and Italian, and the names that FHIR, OMOP, CDISC and common
exports give their columns. Only clinical words and words for an outcome lead to a role that is
published as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from incrowd.table import Role


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
        "full name, fullname, patient name, name patient, initials, user name, username, login, "
        "name text, name full, display name, person name, contact name, next of kin, "
        "patientenname, nom patient, nom complet, nom et prenom, nombre paciente, "
        "nombre completo, nome completo, nome paziente, volledige naam, naam patient, "
        "patientnaam, pseudonym, pseudo id, alias, nickname",
    ),
    Concept(
        "person name",
        "identifier",
        "the name of a person",
        "first name, firstname, last name, lastname, middle name, middlename, surname, forename, "
        "given name, givenname, family name, familyname, maiden name, birth name, mother name, "
        "father name, name family, name given, name first, name last, name middle, "
        "vorname, nachname, familienname, geburtsname, rufname, zuname, "
        "nom de famille, nom famille, nom usage, nom de naissance, nom naissance, nom usuel, "
        "nom marital, nom de jeune fille, prenom, "
        "apellido, primer apellido, segundo apellido, nombre de pila, primer nombre, "
        "achternaam, voornaam, voorletters, tussenvoegsel, roepnaam, meisjesnaam, geslachtsnaam, "
        "cognome, nome di battesimo, nome proprio",
    ),
    Concept(
        "person name",
        "identifier",
        "the name of a person",
        "last, first, middle, maiden, family, given, nom, nombre, nome, naam, name",
        alone=True,
    ),
    Concept(
        "record number",
        "identifier",
        "the number of a person or record",
        "patient id, patientid, patient identifier, patient no, patient nr, patient number, "
        "patient nbr, patient num, patient code, patient key, patient sk, patient ref, "
        "patientnr, patientno, patientnum, patientnumber, patient source value, "
        "pat id, patid, pat nr, patnr, pat no, patno, pat num, patnum, pat nbr, pt id, ptid, "
        "pt no, ptno, pt nr, pid, mrn, emr, medical record, record id, record no, record nbr, "
        "hospnum, hosp num, hosp no, hospno, hosp nr, hospital number, hospital no, hospital nr, "
        "chart number, chart no, file number, usubjid, subjid, subject no, subject nbr, "
        "subject number, person key, person number, person no, person source value, personid, "
        "personal number, personnummer, personal id, identity card, id card, identity number, "
        "drivers license, driver license, driving licence, driving license, "
        "health card, healthcare number, health number, medicare number, medicare no, "
        "medicaid number, medicaid id, beneficiary id, bene id, subscriber id, member number, "
        "national insurance, national identifier, nino, aadhaar, ppsn, ohip, chi number, "
        "encounter nbr, encounter no, encounter num, visit nbr, visit no, visit num, episode id, "
        "record number, case id, case no, case number, subject id, participant id, person id, "
        "encounter id, visit id, admission id, hadm id, stay id, study id, member id, "
        "insurance id, insurance no, insurance number, policy number, nhs number, nhs no, ssn, "
        "social security, national id, tax id, passport, account number, bank account, iban, "
        "credit card, card number, license number, licence number, license plate, serial number, "
        "device id, accession number, barcode, uuid, guid, "
        "patienten id, patientennummer, patienten nr, fallnummer, fall nr, fall id, fallid, "
        "aufnahmenummer, aktenzeichen, versichertennummer, versicherungsnummer, kvnr, svnr, "
        "sozialversicherungsnummer, probandennummer, reisepass, steuernummer, steuer id, "
        "kontonummer, kennzeichen, versicherten nr, versicherten id, versichertenid, "
        "krankenversichertennummer, krankenversicherungsnummer, patientenkennung, "
        "patienten nummer, patnummer, patientenid, fallnr, aufnahmenr, aufnahme nr, "
        "personalausweis, ausweisnummer, rentenversicherungsnummer, ahv, ahv nummer, "
        "pflegefallnummer, "
        "numero patient, numero de patient, numero dossier, numero de dossier, "
        "securite sociale, nir, passeport, numero secu, num secu, num patient, no patient, "
        "id patient, numero ipp, ipp, iep, nda, num dossier, no dossier, matricule, "
        "carte vitale, carte identite, permis de conduire, "
        "numero de paciente, historia clinica, nhc, seguridad social, dni, nif, curp, cpf, "
        "pasaporte, nie, nuss, cip, rut, rfc, cedula, num historia, numero historia, "
        "numero de historia, tarjeta sanitaria, numero afiliacion, expediente, id paciente, "
        "num paciente, codigo paciente, "
        "bsn, burgerservicenummer, patientnummer, patient nummer, polisnummer, zisnummer, "
        "zis nummer, opnamenummer, rijbewijs, paspoort, "
        "codice fiscale, codicefiscale, tessera sanitaria, numero tessera, codice paziente, "
        "id paziente, numero cartella, cartella clinica, passaporto, patente, matricola",
    ),
    Concept(
        "record number",
        "identifier",
        "the number of a person or record",
        "id, patient, subject, person, participant, proband, paciente, sujeto, paziente, nhs, "
        "drivers, ins, nss, encounter",
        alone=True,
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
        "handy, telefono, movil, telefoon, telefoonnummer, cellulare, gsm",
    ),
    Concept(
        "address",
        "identifier",
        "an address",
        "address, street, house number, latitude, longitude, lat, lon, gps, coordinates, strasse, "
        "hausnummer, adresse, anschrift, rue, direccion, calle, domicilio, indirizzo, adres, "
        "straat, straatnaam, huisnummer, address line, geolocation, geocode",
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
        "commentaire, remarque, observaciones, comentario, nota, annotazioni, osservazioni, "
        "opmerking, opmerkingen, toelichting",
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
        "id, identifier, uid, key, kennung, name, nom, nombre, nome, naam, identifiant, "
        "identificador, identificativo, nbr",
        weak=True,
    ),
    Concept(
        "identifier",
        "identifier",
        "an identifier",
        "case, record, index, row, number, no, nr, num, unnamed 0, unnamed, fall, nummer, numero, "
        "sujet",
        weak=True,
        alone=True,
    ),
    Concept(
        "age",
        "quasi",
        "an age",
        "age, alter, lebensalter, edad, agegroup, altersgruppe, leeftijd, eta",
    ),
    Concept(
        "birth",
        "quasi",
        "a date or place of birth",
        "birth, birthdate, birthday, birthplace, born, dob, dateofbirth, yob, birthyear, geburt, "
        "geburtsdatum, geburtstag, geburtsjahr, geburtsort, geburtsland, geb, gebdatum, "
        "naissance, datenaissance, ddn, nacimiento, fechanacimiento, geboortedatum, geboortejaar, "
        "geboorteplaats, geboorte, nascita, datanascita",
    ),
    Concept(
        "sex",
        "quasi",
        "a sex or gender",
        "sex, gender, geschlecht, sexe, genre, sexo, genero, geslacht, sesso, genere",
    ),
    Concept(
        "postal code",
        "quasi",
        "a postal code",
        "zip, zipcode, zip code, postcode, postal, postalcode, plz, postleitzahl, code postal, "
        "codigo postal, cp, cap",
    ),
    Concept(
        "place",
        "quasi",
        "a place",
        "city, town, village, county, district, region, state, province, municipality, area, "
        "residence, neighborhood, neighbourhood, census tract, rural, urban, stadt, ort, wohnort, "
        "gemeinde, kreis, landkreis, bezirk, bundesland, kanton, canton, provinz, ville, commune, "
        "departement, ciudad, provincia, municipio, poblacion, residencia, woonplaats, gemeente, "
        "provincie, comune, citta, regione, residenza",
    ),
    Concept(
        "origin",
        "quasi",
        "a race, country or language",
        "race, ethnicity, ethnic, ethnie, ethnia, etnia, raza, nationality, nationalitaet, "
        "nationalitat, nationalite, nacionalidad, citizenship, staatsangehoerigkeit, "
        "staatsangehorigkeit, herkunft, country, native country, nation, land, pays, pais, "
        "immigrant, migration, language, sprache, langue, idioma, religion, konfession, "
        "nationaliteit, nazionalita, cittadinanza, lingua, taal",
    ),
    Concept(
        "family",
        "quasi",
        "a family status",
        "marital, marital status, civil status, family status, familienstand, etat civil, "
        "situation familiale, estado civil, household, family size, relationship, "
        "children, kids, siblings, twin, haushalt, kinder, enfants, hijos, burgerlijke staat, "
        "stato civile, figli, kinderen",
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
        "tatigkeit, metier, emploi, ocupacion, profesion, empleo, trabajo, beroep, professione, "
        "occupazione",
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
        "verweildauer, liegedauer, admisiones, admision, fecha de ingreso, alta, sejour, sortie, "
        "opname, opnamedatum, ontslag, ontslagdatum, ricovero, dimissione",
    ),
    Concept(
        "death",
        "quasi",
        "a death",
        "death, died, deceased, dod, vital status, tod, todesdatum, sterbedatum, verstorben, "
        "deces, fallecimiento, defuncion, overlijden, overlijdensdatum, decesso",
    ),
    Concept(
        "care",
        "quasi",
        "a place of care",
        "hospital, clinic, ward, department, facility, practice, center, centre, krankenhaus, "
        "klinik, station, abteilung, praxis, hopital, clinique, clinica",
    ),
    Concept(
        "people",
        "quasi",
        "a person of care or a relative",
        "physician, doctor, surgeon, nurse, therapist, provider, prescriber, pathologist, "
        "oncologist, radiologist, technician, author, reporter, by, contact, operator, midwife, "
        "spouse, husband, wife, arzt, arztin, aerztin, hausarzt, hausarztin, hausaerztin, "
        "chirurg, chirurgin, therapeut, therapeutin, pathologe, hebamme, kontakt, ehepartner, "
        "ehemann, ehefrau, medecin, chirurgien, infirmier, infirmiere, auteur, conjoint, "
        "conjointe, epoux, epouse, medico, cirujano, enfermera, enfermero, autor, contacto, "
        "conyuge, arts, huisarts, verpleegkundige, echtgenoot, echtgenote, chirurgo, infermiere, "
        "autore, contatto, coniuge",
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
        "enfermedad, patologia, causa de muerte, diagnosi, malattia, ziekte, aandoening, "
        "causa di morte",
        rank=1,
    ),
    Concept(
        "procedure",
        "sensitive",
        "a procedure or treatment",
        "procedure, surgery, surgeries, operation, treatment, therapy, therapies, transfusion, "
        "transplant, chemotherapy, radiotherapy, ops, cpt, eingriff, behandlung, therapie, "
        "prozedur, traitement, intervention, chirurgie, cirugia, tratamiento, terapia, "
        "procedimiento, behandeling, ingreep, trattamento, intervento",
        rank=2,
    ),
    Concept(
        "medication",
        "sensitive",
        "a medication",
        "medication, medicine, drug, prescription, dose, dosage, atc, insulin, opioid, "
        "medikament, medikamente, medikation, dosis, wirkstoff, medicament, ordonnance, "
        "medicamento, farmaco, receta, medicatie, geneesmiddel",
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
        "quasi",
        "an amount of money",
        "income, salary, wage, wages, earnings, capital gain, capital loss, debt, wealth, cost, "
        "charge, einkommen, gehalt, lohn, kosten, schulden, revenu, salaire, ingresos, salario, "
        "renta, coste, inkomen, reddito, stipendio",
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
)
