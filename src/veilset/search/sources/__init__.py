"""Where the documents of a profile come from: browsers, bookmarks, mail and folders of this machine."""
