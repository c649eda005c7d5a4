"""Weaknesses are told, and so is what could not be looked up."""

import json

from tools import audit


def test_a_weakness_is_told_and_ends_badly(capsys):
    known = {"name": "jinja2", "version": "2.0", "vulns": [{"id": "PYSEC-1"}]}
    told = json.dumps({"dependencies": [known, {"name": "torch", "version": "2.13.0", "vulns": []}]})
    assert audit.report("pip-audit", *audit.read_pip_audit(told)) == audit.FOUND
    assert "knows of a weakness: jinja2 2.0: PYSEC-1" in capsys.readouterr().out
    weak = json.dumps({"vulnerabilities": {"jquery": {"range": "<3.5.0", "severity": "moderate"}}})
    assert audit.report("npm audit", *audit.read_npm(weak)) == audit.FOUND
    assert "jquery <3.5.0: moderate" in capsys.readouterr().out


def test_what_was_not_looked_up_is_not_called_clean(capsys):
    skipped = [{"name": f"p{i}", "skip_reason": "not found"} for i in range(7)]
    for told in (json.dumps({"dependencies": skipped}), "", "{}"):
        assert audit.report("pip-audit", *audit.read_pip_audit(told)) == audit.NOT_REACHED
    assert "p0, p1, p2, p3, p4 and 2 more" in capsys.readouterr().out
    for told in (json.dumps({"message": "405 Method Not Allowed"}), ""):
        assert audit.report("npm audit", *audit.read_npm(told)) == audit.NOT_REACHED


def test_what_is_clean_is_called_so(capsys):
    told = json.dumps({"dependencies": [{"name": "torch", "version": "2.13.0", "vulns": []}]})
    assert audit.report("pip-audit", *audit.read_pip_audit(told)) == audit.CLEAN
    assert audit.report("npm audit", *audit.read_npm(json.dumps({"vulnerabilities": {}}))) == audit.CLEAN
    assert capsys.readouterr().out.count("knows of no weakness") == 2
