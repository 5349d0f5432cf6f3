/** The frame of every page. */
export const shell = {
  skip: 'Skip to content',
  navigation: 'Pages',
  openNavigation: 'Open navigation',
  closeNavigation: 'Close navigation',
  unreachable: 'The service is not responding. Retrying automatically; the page shows the last loaded data.',
  pages: {
    overview: 'Overview',
    quotas: 'Quotas',
    denials: 'Denials',
    webhooks: 'Webhooks',
    mine: 'My quotas',
    cost: 'Message cost',
  },
  colorScheme: { label: 'Color scheme', auto: 'Auto', light: 'Light', dark: 'Dark' },
  language: 'Language',
  account: {
    user: (id: number) => `User ${id}`,
    signedInAs: (subject: string) => `Signed in as ${subject}`,
    signOut: 'Sign out',
  },
}
