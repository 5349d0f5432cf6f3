import type { Texts } from '../en/en.ts'

export const session: Texts['session'] = {}
