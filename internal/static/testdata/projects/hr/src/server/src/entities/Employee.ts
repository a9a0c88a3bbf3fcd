import { Column, Entity, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import { LeaveRequest } from './LeaveRequest';

export type Role = 'employee' | 'manager' | 'hr' | 'admin';

@Entity('employee')
export class Employee {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ unique: true })
  email!: string;

  @Column({ name: 'display_name' })
  displayName!: string;

  @Column({ name: 'password_hash', select: false })
  passwordHash!: string;

  @Column({ type: 'varchar', default: 'employee' })
  role!: Role;

  @Column({ name: 'manager_id', type: 'int', nullable: true })
  managerId!: number | null;

  @Column({ type: 'numeric', select: false })
  salary!: string;

  @Column({ name: 'leave_days', type: 'int', default: 28 })
  leaveDays!: number;

  @Column({ type: 'varchar', nullable: true })
  phone!: string | null;

  @Column({ type: 'text', nullable: true })
  about!: string | null;

  @Column({ name: 'kiosk_pin', type: 'varchar', nullable: true, select: false })
  kioskPin!: string | null;

  @Column({ name: 'reset_token', type: 'varchar', nullable: true, select: false })
  resetToken!: string | null;

  @Column({ name: 'reset_until', type: 'timestamptz', nullable: true })
  resetUntil!: Date | null;

  @Column({ type: 'jsonb', default: {} })
  preferences!: Record<string, unknown>;

  @OneToMany(() => LeaveRequest, (leave) => leave.employee)
  leaves!: LeaveRequest[];
}
