import type { Texts } from '../en/en.ts'

export const start: Texts['start'] = {}
