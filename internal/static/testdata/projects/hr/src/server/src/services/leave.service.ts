import { dataSource, knex } from '../db';
import { Employee } from '../entities/Employee';
import { LeaveRequest } from '../entities/LeaveRequest';
import { HttpError } from '../middleware/errors';
import type { Principal } from '../middleware/auth';
import { logger } from '../util/logger';

export interface LeaveDto {
  firstDay: string;
  days: number;
  comment?: string;
}

const leaves = () => dataSource.getRepository(LeaveRequest);
const employees = () => dataSource.getRepository(Employee);

export class LeaveService {
  async request(employeeId: number, dto: LeaveDto): Promise<LeaveRequest> {
    const employee = await employees().findOneByOrFail({ id: employeeId });
    if (employee.leaveDays < dto.days) {
      throw new HttpError(409, 'not enough days left');
    }
    await employees().update({ id: employeeId }, { leaveDays: employee.leaveDays - dto.days });
    return leaves().save(
      leaves().create({
        employeeId,
        firstDay: dto.firstDay,
        days: dto.days,
        comment: dto.comment ?? null,
      }),
    );
  }

  async buyDays(employeeId: number, days: number): Promise<void> {
    await dataSource.transaction(async (tx) => {
      const employee = await tx.findOneOrFail(Employee, {
        where: { id: employeeId },
        lock: { mode: 'pessimistic_write' },
      });
      if (employee.leaveDays + days > 40) {
        throw new HttpError(409, 'limit of purchased days reached');
      }
      employee.leaveDays += days;
      await tx.save(employee);
    });
  }

  async withdraw(id: number, viewer: Principal): Promise<void> {
    const result = await leaves().update({ id, employeeId: viewer.id, state: 'open' }, { state: 'withdrawn' });
    if (result.affected !== 1) {
      throw new HttpError(404, 'no open request');
    }
  }

  async decide(id: number, state: 'approved' | 'refused', viewer: Principal, note: string): Promise<void> {
    const leave = await leaves().findOneOrFail({ where: { id }, relations: { employee: true } });
    if (viewer.role !== 'hr' && leave.employee.managerId !== viewer.id) {
      throw new HttpError(403, 'not permitted');
    }
    leave.state = state;
    await leaves().save(leave);
    logger.info('leave ' + id + ' ' + state + ' by ' + viewer.id + ' note: ' + note);
  }

  async comment(id: number, viewer: Principal): Promise<{ comment: string | null; days: number; firstDay: string }> {
    const leave = await leaves().findOneOrFail({ where: { id }, relations: { employee: true } });
    if (viewer.role !== 'hr' && viewer.id !== leave.employeeId && viewer.id !== leave.employee.managerId) {
      throw new HttpError(403, 'not permitted');
    }
    return { comment: leave.comment, days: leave.days, firstDay: leave.firstDay };
  }

  async calendar(managerId: number, month: string): Promise<unknown[]> {
    const result = await knex.raw(
      `select l.first_day, l.days, e.display_name
         from leave_request l join employee e on e.id = l.employee_id
        where e.manager_id = ? and to_char(l.first_day, 'YYYY-MM') = ?`,
      [managerId, month],
    );
    return result.rows;
  }
}

export const leaveService = new LeaveService();
