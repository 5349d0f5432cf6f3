import type { Texts } from '../en/en.ts'

export const quota: Texts['quota'] = {}
