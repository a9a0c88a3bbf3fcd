import { dataSource, knex } from '../db';

export interface AbsenceReport {
  from: string;
  to: string;
  groupBy?: string;
  sort?: string;
  dir?: string;
}

const GROUPS = ['department', 'location'] as const;

class SqlText {
  private readonly parts: string[] = [];

  add(part: string): this {
    this.parts.push(part);
    return this;
  }

  toString(): string {
    return this.parts.join(' ');
  }
}

export class ReportService {
  absences(report: AbsenceReport) {
    const group = GROUPS.find((g) => g === report.groupBy) ?? 'department';
    return knex('absence_view')
      .select(group)
      .sum({ days: 'days' })
      .whereBetween('day', [report.from, report.to])
      .groupBy(group)
      .orderByRaw(`${report.sort ?? 'days'} ${report.dir ?? 'desc'}`);
  }

  headcount(location: string) {
    return knex('employee').count({ total: '*' }).where({ location }).whereRaw('(left_on is null or left_on > ?)', [new Date()]);
  }

  async salaryBands(filter: { department: string; year: string }): Promise<unknown[]> {
    const sql = new SqlText()
      .add('select band, count(*) as people, avg(salary) as mean from salary_band_view')
      .add(`where department = '${filter.department}'`)
      .add(`and year = ${Number(filter.year)}`)
      .add('group by band order by band');
    return dataSource.query(sql.toString());
  }

  birthdays(month: number): Promise<unknown[]> {
    return dataSource.query('select display_name, birthday from employee where extract(month from birthday) = $1', [month]);
  }
}

export const reportService = new ReportService();
