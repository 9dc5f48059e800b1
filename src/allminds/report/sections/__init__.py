"""The sections of the page: what each shows, in a module and a template of one name."""
