"""Make problems: panels, rules, options, and the solver that checks them."""
