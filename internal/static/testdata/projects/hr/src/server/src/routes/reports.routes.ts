import { Router } from 'express';
import { wrap } from '../middleware/errors';
import { AbsenceReport, reportService } from '../services/report.service';

export const reportRoutes = Router();

reportRoutes.get(
  '/absences',
  wrap(async (req, res) => {
    const report = { ...req.query } as unknown as AbsenceReport;
    res.json(await reportService.absences(report));
  }),
);

reportRoutes.get(
  '/headcount/:location',
  wrap(async (req, res) => {
    res.json(await reportService.headcount(req.params.location));
  }),
);

reportRoutes.get(
  '/salary-bands',
  wrap(async (req, res) => {
    const filter = { department: String(req.query.department), year: String(req.query.year) };
    res.json(await reportService.salaryBands(filter));
  }),
);

reportRoutes.get(
  '/birthdays/:month',
  wrap(async (req, res) => {
    res.json(await reportService.birthdays(Number(req.params.month)));
  }),
);
