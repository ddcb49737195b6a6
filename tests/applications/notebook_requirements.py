"""What notebook 4 and 5 need, in versions that they accept.

For Tornado 6, on Python 3.11: the last versions with the interfaces of that time, such as
traitlets 4, nbconvert 5 (templates) and Jinja2 3.0 (``contextfilter``).  For the old one: those
of 2018, on Python 3.6.
"""

__all__ = ["FOR_NEW", "FOR_OLD"]

FOR_NEW = """
    tornado==6.5.6
    bleach==3.3.1
    ipykernel==5.5.6
    ipython==7.34.0
    ipython_genutils==0.2.0
    jinja2==3.0.3
    jupyter_client==6.1.12
    jupyter_core==4.12.0
    markupsafe==2.0.1
    mistune==0.8.4
    nbconvert==5.6.1
    nbformat==5.1.3
    pyzmq==27.1.0
    terminado==0.8.3
    traitlets==4.3.3
"""

FOR_OLD = """
    attrs==22.2.0
    backcall==0.2.0
    bleach==3.3.1
    decorator==4.4.2
    defusedxml==0.7.1
    entrypoints==0.4
    importlib_metadata==4.8.3
    ipykernel==4.10.1
    ipython==7.16.3
    ipython_genutils==0.2.0
    jedi==0.17.2
    jinja2==2.11.3
    jsonschema==3.2.0
    jupyter_client==5.2.4
    jupyter_core==4.6.3
    markupsafe==1.1.1
    mistune==0.8.4
    nbconvert==5.6.1
    nbformat==4.4.0
    packaging==21.3
    pandocfilters==1.5.0
    parso==0.7.1
    pexpect==4.8.0
    pickleshare==0.7.5
    prompt_toolkit==3.0.36
    ptyprocess==0.7.0
    pygments==2.14.0
    pyparsing==3.0.9
    pyrsistent==0.18.0
    python_dateutil==2.8.2
    pyzmq==19.0.2
    six==1.16.0
    terminado==0.8.1
    testpath==0.6.0
    traitlets==4.3.3
    typing_extensions==4.1.1
    wcwidth==0.2.6
    webencodings==0.5.1
    zipp==3.6.0
"""
