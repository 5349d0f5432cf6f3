/** Names of the API are snake_case, those of the client camelCase. */

/** @param name of the API */
export function camelName(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** @param name of the client */
export function snakeName(name: string): string {
  return name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}
