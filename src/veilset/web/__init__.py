"""What every web page of Veilset needs: who may use it, what a browser may do with it, its layout, partial updates.

A page is for one person on this machine. `Session` says who that is, `Guard` stands before everything that answers, a
`Site` connects actions with templates, and `serve_site` listens on the loopback interface only. The modules need
Starlette and uvicorn, which an extra installs; so this package imports none of them.
"""
