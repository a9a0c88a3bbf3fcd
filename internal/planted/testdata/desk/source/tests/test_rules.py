import unittest

from desk import rules


class Amounts(unittest.TestCase):
    def test_most(self):
        self.assertEqual(rules.amount_of("500"), 500)
        with self.assertRaises(ValueError):
            rules.amount_of("501")
