import type { Texts } from '../en/en.ts'

export const cost: Texts['cost'] = {}
