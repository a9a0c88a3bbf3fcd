import { Brackets, In } from 'typeorm';
import { dataSource } from '../db';
import { Employee } from '../entities/Employee';
import { HttpError } from '../middleware/errors';
import type { Principal } from '../middleware/auth';
import { overlay, pick } from '../util/objects';

export interface DirectoryQuery {
  name?: string;
  department?: string;
  sort?: string;
  page?: number;
}

const SORTABLE: Record<string, string> = { name: 'e.displayName', mail: 'e.email' };
const SELF_FIELDS = ['displayName', 'phone', 'about'] as const;

const repo = () => dataSource.getRepository(Employee);

export class EmployeeService {
  async directory(query: DirectoryQuery): Promise<Employee[]> {
    const qb = repo().createQueryBuilder('e').select(['e.id', 'e.displayName', 'e.email', 'e.phone']);
    const filters: string[] = [];
    if (query.name) {
      filters.push(`e.displayName ILIKE '%${query.name}%'`);
    }
    if (filters.length > 0) {
      qb.where(filters.join(' AND '));
    }
    const key = String(query.sort ?? 'name');
    qb.orderBy(Object.hasOwn(SORTABLE, key) ? SORTABLE[key] : 'e.displayName', 'ASC');
    return qb.skip((query.page ?? 0) * 50).take(50).getMany();
  }

  async suggest(term: string): Promise<Employee[]> {
    return repo()
      .createQueryBuilder('e')
      .select(['e.id', 'e.displayName'])
      .where(
        new Brackets((b) => {
          b.where('e.displayName ILIKE :term', { term: `%${term}%` }).orWhere('e.email ILIKE :term');
        }),
      )
      .limit(10)
      .getMany();
  }

  byIds(ids: number[]): Promise<Employee[]> {
    return repo().findBy({ id: In(ids) });
  }

  async profile(id: number): Promise<Employee> {
    const employee = await repo().findOneBy({ id });
    if (!employee) {
      throw new HttpError(404, 'no such employee');
    }
    return employee;
  }

  async updateSelf(id: number, body: Partial<Employee>): Promise<Employee> {
    const employee = await this.profile(id);
    Object.assign(employee, pick(body as Employee, SELF_FIELDS));
    return repo().save(employee);
  }

  async completeOnboarding(id: number, body: Partial<Employee>): Promise<Employee> {
    const employee = await this.profile(id);
    const merged = repo().merge(employee, body);
    return repo().save(merged);
  }

  async savePreferences(id: number, changes: Record<string, unknown>): Promise<Record<string, unknown>> {
    const employee = await this.profile(id);
    employee.preferences = overlay(employee.preferences ?? {}, changes);
    await repo().save(employee);
    return employee.preferences;
  }

  async salaryOf(id: number, viewer: Principal): Promise<string> {
    const employee = await repo()
      .createQueryBuilder('e')
      .addSelect('e.salary')
      .where('e.id = :id', { id })
      .getOneOrFail();
    const permitted = viewer.role === 'hr' || viewer.id === employee.id || viewer.id === employee.managerId;
    if (!permitted) {
      throw new HttpError(403, 'not permitted');
    }
    return employee.salary;
  }
}

export const employeeService = new EmployeeService();
