import type { Texts } from '../en/en.ts'

export const denials: Texts['denials'] = {}
