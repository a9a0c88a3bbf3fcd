import { Schema, model } from 'mongoose';

export interface AnnouncementDoc {
  title: string;
  body: string;
  audience: string;
  authorId: number;
  likes: number[];
  createdAt: Date;
}

const schema = new Schema<AnnouncementDoc>({
  title: { type: String, required: true, maxlength: 160 },
  body: { type: String, required: true },
  audience: { type: String, default: 'all', index: true },
  authorId: { type: Number, required: true },
  likes: { type: [Number], default: [] },
  createdAt: { type: Date, default: () => new Date() },
});

export const Announcement = model<AnnouncementDoc>('Announcement', schema);
