/** Fields with a list of entries that are found by typing. */
export const choice = {
  none: 'No matching entry',
  notChosen: (text: string) => `“${text}” is not chosen. Choose an entry of the list.`,
}
