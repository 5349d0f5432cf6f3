import type { Texts } from '../en/en.ts'

export const quotas: Texts['quotas'] = {}
