"""Pictures, drawn as SVG by ourselves; `notebook` has charts of Altair that a user can change."""
