"""Results as HTML: model < card < markdown < table < plot < page < notebook."""
