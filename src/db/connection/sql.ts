/**
 * The text of statements. It is put together from constants of the service's modules only: what comes from a caller is a
 * parameter (`bind`). The type is the rule: a statement is run only if its text is `Sql`, and only the functions here make
 * that. No other module casts to it.
 */

declare const SQL: unique symbol

/** Text of a statement, or of a part of one. */
export type Sql = string & { readonly [SQL]: true }

/**
 * Text that stands in a module, with other such text in it.
 * @throws TypeError if a part is no text, such as what a table of constants does not have
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly Sql[]): Sql {
  let text = strings[0] ?? ''
  for (const [index, part] of parts.entries()) {
    if (typeof part !== 'string')
      throw new TypeError(`part ${index + 1} of the statement "${text}…" is ${typeof part}, not SQL`)
    text += part + (strings[index + 1] ?? '')
  }
  return text as Sql
}

export function joinSql(parts: readonly Sql[], separator = sql`, `): Sql {
  return parts.reduce((text, part, index) => (index === 0 ? sql`${part}` : sql`${text}${separator}${part}`), sql``)
}

/** A table or a column by its name, which may have any characters. */
export function sqlName(name: string): Sql {
  return trustedSql(`"${name.replaceAll('"', '""')}"`)
}

/** A text between quotes. Of the service's own only: what comes from a caller is bound. */
export function sqlText(text: string): Sql {
  return trustedSql(`'${text.replaceAll("'", "''")}'`)
}

/** @throws RangeError if it is no safe integer, or negative: a second minus sign would begin a comment */
export function sqlInteger(value: number): Sql {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is no integer for a statement`)
  return trustedSql(String(value))
}

/**
 * The one door for text that does not stand in a module: of the files of migrations. The caller vouches that nothing
 * in it is from a caller. `test/architecture.test.ts` names the modules that may.
 */
export function trustedSql(text: string): Sql {
  return text as Sql
}
