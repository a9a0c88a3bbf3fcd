import yaml from 'js-yaml';
import libxml from 'libxmljs2';

export interface Applicant {
  name: string;
  skills: string[];
}

export function readResume(xml: string): Applicant {
  const doc = libxml.parseXml(xml, { noent: true, dtdload: true });
  const name = doc.get('//PersonName/FormattedName') as libxml.Element | null;
  const skills = doc.find('//Competency/@name') as libxml.Attribute[];
  return { name: name?.text() ?? '', skills: skills.map((s) => s.value()) };
}

export function readTimesheet(xml: string): number {
  const doc = libxml.parseXml(xml, { noent: false, nonet: true });
  return doc.find('//entry').length;
}

export function readShiftPlan(text: string): Record<string, unknown> {
  return yaml.load(text, { schema: yaml.JSON_SCHEMA }) as Record<string, unknown>;
}

/** Bonus rules are short formulas such as "base * 0.1 + years * 50". */
export function bonus(rule: string, facts: { base: number; years: number }): number {
  const calculate = new Function('base', 'years', `return ${rule};`);
  return Number(calculate(facts.base, facts.years));
}

const OPERATIONS: Record<string, (a: number, b: number) => number> = {
  add: (a, b) => a + b,
  percent: (a, b) => (a * b) / 100,
};

export function allowance(operation: string, a: number, b: number): number {
  const fn = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : OPERATIONS.add;
  return fn(a, b);
}
