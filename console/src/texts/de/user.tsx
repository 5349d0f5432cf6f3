import type { Texts } from '../en/en.ts'

export const user: Texts['user'] = {}
