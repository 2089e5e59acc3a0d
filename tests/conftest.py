"""What the test run says at its end."""

HOW = "Install Chromium with `make browser`, then run `make test` again."


def pytest_terminal_summary(terminalreporter):
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    if left_out := sum("browser tests need" in reason for reason in reasons):
        terminalreporter.section("no browser", yellow=True)
        terminalreporter.line(f"Tests left out for want of a browser: {left_out}. {HOW}", yellow=True)
