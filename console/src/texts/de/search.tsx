import type { Texts } from '../en/en.ts'

export const search: Texts['search'] = {}
