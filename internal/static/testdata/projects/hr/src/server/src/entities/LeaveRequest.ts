import { Column, Entity, JoinColumn, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { Employee } from './Employee';

@Entity('leave_request')
export class LeaveRequest {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ name: 'employee_id' })
  employeeId!: number;

  @ManyToOne(() => Employee, (employee) => employee.leaves)
  @JoinColumn({ name: 'employee_id' })
  employee!: Employee;

  @Column({ name: 'first_day', type: 'date' })
  firstDay!: string;

  @Column({ type: 'int' })
  days!: number;

  @Column({ type: 'text', nullable: true })
  comment!: string | null;

  @Column({ type: 'varchar', default: 'open' })
  state!: 'open' | 'approved' | 'refused' | 'withdrawn';
}
