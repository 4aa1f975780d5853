from __future__ import annotations

from dashboard.findings import RULES
from dashboard.findings.leads import LEADS
from rmqcore.labs import LABS


def test_every_rule_leads_to_documentation_and_only_to_labs_there_are() -> None:
    assert set(LEADS) == {rule.key for rule in RULES}
    for leads in LEADS.values():
        assert leads.docs.startswith("https://rocketmq.apache.org/docs/")
        assert leads.lab == "" or leads.lab in LABS
