import jwt, { JwtPayload } from 'jsonwebtoken';
import { config } from '../config';
import { dataSource } from '../db';
import { Employee } from '../entities/Employee';
import { HttpError } from '../middleware/errors';
import { checkPassword, hashPassword, hashPin, resetToken, sameDigest } from '../util/crypto';
import { logger, oneLine } from '../util/logger';
import { queueMail } from './mail.service';

export interface SignInDto {
  email: string;
  password: string;
}

const employees = () => dataSource.getRepository(Employee);

export class AuthService {
  async signIn(dto: SignInDto): Promise<Employee> {
    const employee = await employees()
      .createQueryBuilder('e')
      .addSelect('e.passwordHash')
      .where('lower(e.email) = lower(:email)', { email: String(dto.email) })
      .getOne();
    if (!employee || !(await checkPassword(String(dto.password), employee.passwordHash))) {
      logger.warn(`sign-in refused ${JSON.stringify(dto)}`);
      throw new HttpError(401, 'email or password is wrong');
    }
    logger.info(`sign-in employee=${employee.id} mail=${oneLine(dto.email)}`);
    return employee;
  }

  accessToken(employee: Employee): string {
    return jwt.sign({ role: employee.role }, config.jwt.accessSecret, {
      subject: String(employee.id),
      expiresIn: `${config.jwt.accessMinutes}m`,
      algorithm: 'HS256',
    });
  }

  refreshToken(employee: Employee): string {
    return jwt.sign({ use: 'refresh' }, config.jwt.refreshSecret, {
      subject: String(employee.id),
      expiresIn: `${config.jwt.refreshDays}d`,
    });
  }

  async renew(raw: string): Promise<string> {
    let claims: JwtPayload;
    try {
      claims = jwt.verify(raw, config.jwt.refreshSecret, { algorithms: ['HS256'] }) as JwtPayload;
    } catch {
      throw new HttpError(401, 'session has ended');
    }
    const employee = await employees().findOneByOrFail({ id: Number(claims.sub) });
    return this.accessToken(employee);
  }

  async startReset(email: string): Promise<void> {
    const employee = await employees().findOneBy({ email: String(email) });
    if (!employee) {
      return;
    }
    employee.resetToken = resetToken();
    employee.resetUntil = new Date(Date.now() + 3600_000);
    await employees().save(employee);
    await queueMail(employee.email, 'Choose a new password', `${config.publicUrl}/reset?token=${employee.resetToken}`);
    logger.info(`reset mail queued for employee ${employee.id}`);
  }

  async finishReset(token: string, password: string): Promise<void> {
    const employee = await employees().findOneBy({ resetToken: String(token) });
    if (!employee || !employee.resetUntil || employee.resetUntil < new Date()) {
      throw new HttpError(400, 'link has expired');
    }
    employee.passwordHash = await hashPassword(String(password));
    employee.resetToken = null;
    await employees().save(employee);
  }

  async checkPin(employeeId: number, pin: string): Promise<boolean> {
    const row = await employees()
      .createQueryBuilder('e')
      .addSelect('e.kioskPin')
      .where('e.id = :id', { id: employeeId })
      .getOne();
    return !!row?.kioskPin && sameDigest(row.kioskPin, hashPin(pin));
  }

  async setPin(employeeId: number, pin: string): Promise<void> {
    await employees().update({ id: employeeId }, { kioskPin: hashPin(pin) });
  }
}

export const authService = new AuthService();
