import { delimiter, join, resolve } from 'node:path'

/** The folder of the project. */
export const PROJECT = resolve(import.meta.dirname, '../..')

/** The machine's PATH, followed by a replacement for curl. */
export const SHELL_PATH = [process.env.PATH ?? '', join(PROJECT, 'test/support/bin')].join(delimiter)
