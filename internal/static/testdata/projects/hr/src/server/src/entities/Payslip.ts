import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('payslip')
export class Payslip {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ name: 'employee_id' })
  employeeId!: number;

  @Column({ length: 7 })
  month!: string;

  @Column({ type: 'numeric' })
  gross!: string;

  @Column({ type: 'numeric' })
  net!: string;

  @Column({ name: 'file_name' })
  fileName!: string;
}
