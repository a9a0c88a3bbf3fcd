import { exec, execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { config } from '../config';
import { dataSource } from '../db';
import { Payslip } from '../entities/Payslip';
import { HttpError } from '../middleware/errors';

const run = promisify(exec);
const runFile = promisify(execFile);

export interface BundleOptions {
  year: string;
  format: string;
  title?: string;
}

const payslips = () => dataSource.getRepository(Payslip);

export class PayslipService {
  own(employeeId: number): Promise<Payslip[]> {
    return payslips().find({ where: { employeeId }, order: { month: 'DESC' } });
  }

  async find(id: number): Promise<Payslip> {
    const slip = await payslips().findOneBy({ id });
    if (!slip) {
      throw new HttpError(404, 'no such payslip');
    }
    return slip;
  }

  async findOwn(id: number, employeeId: number): Promise<Payslip> {
    return payslips().findOneByOrFail({ id, employeeId });
  }

  fileOf(slip: Payslip): string {
    return path.join(config.files.root, 'payslips', slip.month, `${slip.id}.pdf`);
  }

  async bundle(employeeId: number, options: BundleOptions): Promise<string> {
    const slips = await this.own(employeeId);
    const inputs = slips.map((slip) => this.fileOf(slip));
    const output = path.join('/tmp', `bundle-${employeeId}.pdf`);
    const flags = this.flags(options);
    await run(['qpdf', '--empty', '--pages', ...inputs, '--', ...flags, output].join(' '));
    return output;
  }

  async watermark(slip: Payslip, label: string): Promise<string> {
    const output = path.join('/tmp', `marked-${slip.id}.pdf`);
    await runFile('pdfmark', [`--label=${label}`, this.fileOf(slip), output]);
    return output;
  }

  async preview(slip: Payslip, page: number): Promise<string> {
    const output = path.join('/tmp', `preview-${slip.id}`);
    const first = Math.trunc(Number(page)) || 1;
    await run(`pdftoppm -png -f ${first} -l ${first} ${this.fileOf(slip)} ${output}`);
    return `${output}-${first}.png`;
  }

  private flags(options: BundleOptions): string[] {
    const flags = [`--object-streams=${options.format}`];
    if (options.title) {
      flags.push(`--set-title="${options.title}"`);
    }
    return flags;
  }
}

export const payslipService = new PayslipService();
