import { Router } from 'express';
import { wrap } from '../middleware/errors';
import { integrationService } from '../services/integration.service';
import { payslipService } from '../services/payslip.service';

export const payslipRoutes = Router();

payslipRoutes.get(
  '/',
  wrap(async (req, res) => {
    res.json(await payslipService.own(req.principal!.id));
  }),
);

payslipRoutes.get(
  '/status',
  wrap(async (req, res) => {
    res.json(await integrationService.payrollStatus(req.principal!.id));
  }),
);

payslipRoutes.get(
  '/:id',
  wrap(async (req, res) => {
    res.json(await payslipService.findOwn(Number(req.params.id), req.principal!.id));
  }),
);

payslipRoutes.get(
  '/:id/pdf',
  wrap(async (req, res) => {
    const slip = await payslipService.find(Number(req.params.id));
    res.download(payslipService.fileOf(slip), `payslip-${slip.month}.pdf`);
  }),
);

payslipRoutes.get(
  '/:id/preview/:page',
  wrap(async (req, res) => {
    const slip = await payslipService.findOwn(Number(req.params.id), req.principal!.id);
    res.sendFile(await payslipService.preview(slip, Number(req.params.page)));
  }),
);

payslipRoutes.post(
  '/:id/marked',
  wrap(async (req, res) => {
    const slip = await payslipService.findOwn(Number(req.params.id), req.principal!.id);
    res.sendFile(await payslipService.watermark(slip, String(req.body.label)));
  }),
);

payslipRoutes.post(
  '/bundle',
  wrap(async (req, res) => {
    const { year, format, title } = req.body;
    res.sendFile(await payslipService.bundle(req.principal!.id, { year, format, title }));
  }),
);
