import type { Texts } from '../en/en.ts'

export const webhooks: Texts['webhooks'] = {}
