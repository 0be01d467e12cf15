# The docs as a site: wide, narrow and printed, with a search that needs no server.
#   pip install sphinx==8.1.3 myst-parser==4.0.0 furo==2024.8.6
#   sphinx-build -W -q -c docs/site docs site
project = html_title = "decoy"
extensions = ["myst_parser"]
html_theme = "furo"
html_show_sphinx = html_show_copyright = html_copy_source = False
myst_heading_anchors = 4
suppress_warnings = ["myst.xref_missing", "misc.highlighting_failure"]  # TestLinksLead follows them
exclude_patterns = ["site"]

parts = {
    "Start": "install hospital serve python schema epsilon methods",
    "Judge": "evaluate audit pitfalls claims glossary",
    "More tables": "linked repeated batch scale join party collect",
    "Without a table": "queries train validate",
    "Research": "library results benchmarks aim wgan pategan",
    "Reference": "verbs changelog architecture claims/* decisions/README decisions/0*",
}


def setup(app):
    def contents(app, page, text):
        if page == "index":
            for caption, pages in parts.items():
                text[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {caption}\n\n"
                text[0] += "\n".join(pages.split()) + "\n```\n"

    app.connect("source-read", contents)
