import type { Texts } from '../en/en.ts'

export const overview: Texts['overview'] = {}
