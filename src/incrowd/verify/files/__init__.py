"""The files of a release as the judge takes them: manifest, forms, readers, signature."""
