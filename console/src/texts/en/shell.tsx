/** The frame of every page. */
export const shell = {
  skip: 'Skip to content',
  navigation: 'Pages',
  openNavigation: 'Open navigation',
  closeNavigation: 'Close navigation',
  loading: 'Loading…',
  unreachable: 'The service is not responding. Retrying automatically; the page shows the last loaded data.',
  pages: {
    overview: 'Overview',
    quotas: 'Quotas',
    plans: 'Plans',
    prices: 'Prices',
    messages: 'Messages',
    pauses: 'Rules',
    requests: 'Requests',
    webhooks: 'Webhooks & alerts',
    changes: 'Changes',
    mine: 'My quotas',
    cost: 'Message cost',
    users: 'Customers',
  },
  /** Before the frame is there. */
  opening: {
    tab: 'Signing in',
    text: 'Signing in…',
    unreachable: 'The service is not responding. Retrying…',
  },
  differentUser: (subject: string) =>
    `This token is not for “${subject}”. To continue as another user, sign out first.`,
  search: 'Search',
  /** The shortcut of the search, except on a Mac. */
  controlK: 'Ctrl K',
  density: { label: 'Tables', comfortable: 'Comfortable', compact: 'Compact' },
  colorScheme: { label: 'Color scheme', auto: 'As in the system', light: 'Light', dark: 'Dark' },
  language: 'Language',
  account: {
    label: 'Account:',
    user: (id: number) => `User ${id}`,
    signedInAs: (subject: string) => `Signed in as ${subject}`,
    docs: 'API documentation',
    signOut: 'Sign out',
  },
  copying: {
    copy: 'Copy',
    copied: 'Copied.',
    refused: 'The browser does not allow copying. Select the text and copy it.',
  },
  roles: {
    admin: 'Administrator',
    sender: 'Sender',
    auditor: 'Auditor',
    support: 'Support',
    force: 'May send past limits',
  },
}
