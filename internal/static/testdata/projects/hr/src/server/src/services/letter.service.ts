import path from 'node:path';
import ejs from 'ejs';
import type { Employee } from '../entities/Employee';

export interface LetterDto {
  subject: string;
  text: string;
}

const VIEWS = path.join(__dirname, '..', '..', 'views');

export function renderLetter(letter: LetterDto, employee: Employee): string {
  const source = `<h1>${letter.subject.trim()}</h1>\n<div class="letter">${letter.text}</div>`;
  return ejs.render(source, { employee, today: new Date() });
}

export function renderCertificate(employee: Employee, purpose: string): Promise<string> {
  return ejs.renderFile(path.join(VIEWS, 'certificate.ejs'), { employee, purpose });
}

export function fillPlaceholders(text: string, employee: Employee): string {
  const values: Record<string, string> = { name: employee.displayName, mail: employee.email };
  return text.replace(/\{(name|mail)\}/g, (_all, key: string) => values[key]);
}
