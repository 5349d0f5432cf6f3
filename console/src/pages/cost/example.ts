/** A message with all that this page can show: doubles of GSM-7, characters that it lacks, and more than one segment. */
export const EXAMPLE = {
  to: '+4915112345678',
  text: 'Hi Zoë, your order #4711 is on its way – it’s due tomorrow between 9 and 12… You pay 24,90 € [incl. shipping]. Track it here: https://shop.example/t/4711. Thank you for buying with us!',
}
